# image_classification_pipeline.py
import torch
import torch.nn as nn
import torchvision.transforms as transforms
from PIL import Image
import json
import time


class NPUImageClassificationPipeline:
    """NPU优化的图像分类管道"""

    def __init__(self, model_name="resnet50"):
        self.device = torch.device("npu:0")
        self.model_name = model_name
        self.model = None
        self.preprocess = None
        self.class_names = None
        self._load_model()
        self._setup_preprocessing()
        self._load_class_names()

    def _load_model(self):
        """加载并优化模型"""
        print(f"加载 {self.model_name} 模型...")
        # 加载预训练模型
        if self.model_name == "resnet50":
            self.model = torch.hub.load('pytorch/vision:v0.10.0', 'resnet50', pretrained=True)
        else:
            raise ValueError(f"不支持的模型: {self.model_name}")
        # NPU优化
        self.model = self.model.to(self.device)
        self.model = self.model.to(memory_format=torch.channels_last)
        self.model.eval()
        print(f"{self.model_name} 模型加载完成")

    def _setup_preprocessing(self):
        """设置图像预处理流程"""
        self.preprocess = transforms.Compose([
            transforms.Resize(256),
            transforms.CenterCrop(224),
            transforms.ToTensor(),
            transforms.Normalize(
                mean=[0.485, 0.456, 0.406],
                std=[0.229, 0.224, 0.225]
            ),
        ])

    def _load_class_names(self):
        """加载ImageNet类别名称"""
        # 这里使用简化版本,实际应该下载完整的类别文件
        self.class_names = [
            "tench, Tinca tinca", "goldfish, Carassius auratus",
            "great white shark, white shark, man-eater",
            "tiger shark, Galeocerdo cuvieri",
            "hammerhead, hammerhead shark"
        ] # 示例类别

    def classify_image(self, image_path, top_k=5):
        """对单张图像进行分类"""
        print(f"处理图像: {image_path}")
        # 加载和预处理图像
        start_time = time.time()
        image = Image.open(image_path).convert('RGB')
        input_tensor = self.preprocess(image).unsqueeze(0)
        input_tensor = input_tensor.to(self.device, memory_format=torch.channels_last)
        preprocess_time = time.time() - start_time
        # 模型推理
        start_inference = time.time()
        with torch.no_grad():
            outputs = self.model(input_tensor)
            torch.npu.synchronize()
        inference_time = time.time() - start_inference
        # 解析结果
        probabilities = torch.nn.functional.softmax(outputs[0], dim=0)
        top5_prob, top5_indices = torch.topk(probabilities, top_k)
        # 准备结果
        results = {
            "image_path": image_path,
            "preprocess_time_ms": preprocess_time * 1000,
            "inference_time_ms": inference_time * 1000,
            "total_time_ms": (time.time() - start_time) * 1000,
            "predictions": []
        }
        for i in range(top_k):
            class_idx = top5_indices[i].item()
            class_name = self.class_names[class_idx % len(self.class_names)]
            confidence = top5_prob[i].item() * 100
            results["predictions"].append({
                "rank": i + 1,
                "class_id": class_idx,
                "class_name": class_name,
                "confidence": confidence
            })
        return results

    def batch_classify(self, image_paths, batch_size=4):
        """批量图像分类"""
        print(f"批量处理 {len(image_paths)} 张图像,批次大小: {batch_size}")
        all_results = []
        for i in range(0, len(image_paths), batch_size):
            batch_paths = image_paths[i:i + batch_size]
            print(f"处理批次 {i//batch_size + 1}/{(len(image_paths)-1)//batch_size + 1}")
            for image_path in batch_paths:
                try:
                    result = self.classify_image(image_path)
                    all_results.append(result)
                except Exception as e:
                    print(f"处理图像 {image_path} 时出错: {e}")
                    all_results.append({
                        "image_path": image_path,
                        "error": str(e)
                    })
        return all_results


def demo_classification():
    """演示图像分类功能"""
    print("=== NPU图像分类管道演示 ===\n")
    # 初始化管道
    pipeline = NPUImageClassificationPipeline()
    # 创建测试图像(在实际使用中替换为真实图像路径)
    test_images = ["demo_image1.jpg", "demo_image2.jpg"] # 示例路径
    # 单张图像分类演示
    print("1. 单张图像分类演示:")
    result = pipeline.classify_image(test_images[0])
    print(f"\n图像: {result['image_path']}")
    print(f"预处理时间: {result['preprocess_time_ms']:.2f} ms")
    print(f"推理时间: {result['inference_time_ms']:.2f} ms")
    print(f"总时间: {result['total_time_ms']:.2f} ms")
    print("\nTop 5 预测:")
    for pred in result["predictions"]:
        print(f" {pred['rank']}. {pred['class_name']}: {pred['confidence']:.2f}%")
    # 性能统计
    print(f"\n2. 性能统计:")
    print(f"单张图像推理速度: {1000/result['inference_time_ms']:.1f} FPS")
    # 保存结果
    with open('classification_results.json', 'w') as f:
        json.dump([result], f, indent=2)
    print(f"\n结果已保存到 classification_results.json")


if __name__ == "__main__":
    demo_classification()
